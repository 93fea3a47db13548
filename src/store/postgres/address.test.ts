import { describe, expect, test } from "vitest";
import { parseAddress, redactPassword } from "./address.ts";

describe("an address", () => {
  test("with one host is used as it is, on any server", () => {
    expect(parseAddress("postgres://ada:s%40@db.example/varve?sslmode=require")).toEqual({
      servers: [{ name: "db.example:5432", url: "postgres://ada:s%40@db.example:5432/varve?sslmode=require" }],
      target: "any",
    });
  });

  test("with several hosts has a URL for each, and wants one that can be written to", () => {
    const { servers, target, connectTimeoutMs } = parseAddress(
      "postgresql://ada@a:5433,b,[::1]:5434/varve?target_session_attrs=read-write&connect_timeout=3",
    );
    expect(servers.map(({ url }) => url)).toEqual([
      "postgresql://ada@a:5433/varve?connect_timeout=3",
      "postgresql://ada@b:5432/varve?connect_timeout=3",
      "postgresql://ada@[::1]:5434/varve?connect_timeout=3",
    ]);
    expect({ target, connectTimeoutMs }).toEqual({ target: "read-write", connectTimeoutMs: 3_000 });
    expect(parseAddress("postgres://a,b/varve").target).toBe("read-write");
    expect(parseAddress("postgres://a,b/varve?target_session_attrs=any").target).toBe("any");
  });

  test("without a host leaves the choice to the driver", () => {
    const { servers } = parseAddress("postgres:///varve?host=/var/run/postgresql");
    expect(servers).toEqual([{ name: "/var/run/postgresql", url: "postgres:///varve?host=%2Fvar%2Frun%2Fpostgresql" }]);
  });

  test.each([
    ["postgres://ada:secret@a,,b/varve", /"" is not a host/],
    ["postgres://ada:secret@a:port,b/varve", /"a:port" is not a host/],
    ["postgres://ada:secret@a:5432,b:70000/varve", /port 70000 of b is not in 1 to 65535/],
    ["postgres://ada:secret@a,b/varve?target_session_attrs=write", /"write" and must be one of any, read-write/],
    ["postgres://ada:secret@a/varve?host=a,b", /several hosts belong before the database name/],
    ["postgres://ada:sec/ret@a/varve", /not of the form/],
  ])("%s is refused", (database, why) => {
    const parse = () => parseAddress(database);
    expect(parse).toThrow(why);
    expect(parse).toThrow(expect.objectContaining({ code: "BAD_CONFIG", remedy: expect.stringContaining("a:5432,b") }));
    expect(parse).not.toThrow(/sec/);
  });

  test("is shown without its password", () => {
    expect(redactPassword("postgres://ada:s@cret@a,b/varve?password=x&y=1")).toBe(
      "postgres://ada:***@a,b/varve?password=***&y=1",
    );
    expect(redactPassword("postgres://a,b/varve")).toBe("postgres://a,b/varve");
  });
});
