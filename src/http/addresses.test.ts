import { expect, it } from "vitest";
import { classifyOrigin, formatUrlHost, type GatewayAddress, isLoopback, isOwnHost } from "./addresses.ts";

const place: GatewayAddress = {
  host: "10.0.0.5",
  port: 7411,
  allowedHosts: ["memory.example", "b.example:8080"],
  allowedOrigins: ["https://app.example/"],
};

it("takes only what cannot be reached from elsewhere for loopback", () => {
  for (const host of ["127.0.0.1", "127.255.0.9", "localhost", "LOCALHOST", "::1", "[::1]"])
    expect(isLoopback(host), host).toBe(true);
  for (const host of [
    "0.0.0.0",
    "::",
    "",
    "127.0.0.1.example",
    "127.0.0.256",
    "128.0.0.1",
    "localhost.example",
    "::ffff:10.0.0.1",
  ]) {
    expect(isLoopback(host), host).toBe(false);
  }
});

it("knows its own names, with the right port", () => {
  const own = [
    "localhost:7411",
    "127.0.0.1:7411",
    "[::1]:7411",
    "10.0.0.5:7411",
    "Memory.Example",
    "memory.example:443",
    "b.example:8080",
  ];
  for (const host of own) expect(isOwnHost(host, place), host).toBe(true);
  const foreign = [
    "localhost",
    "localhost:80",
    "10.0.0.6:7411",
    "b.example",
    "b.example:1",
    "a.memory.example",
    "localhost:7411, localhost:7411",
    "user@localhost:7411",
    "localhost.:7411",
    "",
    undefined,
  ];
  for (const host of foreign) expect(isOwnHost(host, place), host).toBe(false);
  expect(isOwnHost("localhost", { ...place, port: 80 })).toBe(true);
});

it("tells its own pages, allowed ones and foreign ones apart", () => {
  expect(classifyOrigin(undefined, "localhost:7411", place)).toBe("none");
  expect(classifyOrigin("http://localhost:7411", "localhost:7411", place)).toBe("own");
  expect(classifyOrigin("https://memory.example", "memory.example", place)).toBe("own");
  expect(classifyOrigin("https://app.example", "localhost:7411", place)).toBe("allowed");
  for (const origin of [
    "null",
    "",
    "http://localhost:7412",
    "http://127.0.0.1:7411",
    "https://app.example.evil",
    "http://app.example",
  ]) {
    expect(classifyOrigin(origin, "localhost:7411", place), origin).toBe("foreign");
  }
});

it("puts brackets around IPv6 addresses in URLs", () => {
  expect([formatUrlHost("::1"), formatUrlHost("[::1]"), formatUrlHost("127.0.0.1")]).toEqual([
    "[::1]",
    "[::1]",
    "127.0.0.1",
  ]);
});
