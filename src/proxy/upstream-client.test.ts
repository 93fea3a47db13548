import { expect, it } from "vitest";
import { copyRequestHeaders } from "./upstream-client.ts";

it("forwards no header of the gateway or of the connection, and of the cookies only foreign ones", () => {
  const headers = new Headers({
    "x-api-key": "sk-1",
    "x-varve-token": "t",
    "x-varve-session": "s",
    "x-varve-anything": "1",
    cookie: "varve_token=secret; theme=dark; varve_token_2=x",
    connection: "keep-alive,  X-Private ",
    "x-private": "1",
    te: "trailers",
    upgrade: "h2c",
    "proxy-authorization": "Basic x",
  });
  expect(copyRequestHeaders(headers)).toEqual({
    "x-api-key": "sk-1",
    cookie: "theme=dark",
    "accept-encoding": "identity",
  });
});
