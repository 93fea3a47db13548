import { expect, test } from "vitest";
import { findNameFault, printCaller } from "./principal-names.ts";

test("a token cannot have the name of another caller", () => {
  for (const name of ["owner", "Owner", " LOCAL ", "anonymous", "\uff4fwner", "token file", "browser", "Browser 3"]) {
    expect(findNameFault(name), name).toBeDefined();
  }
  expect(findNameFault("laptop (token_01kf0rdqg0dvzmmvxz5)")).toContain("id of a token");
  for (const name of ["laptop", "my browser", "owners", "ci-local"]) expect(findNameFault(name), name).toBeUndefined();
});

test("a caller with a token of the database is named with its id", () => {
  expect(printCaller({ name: "laptop", tokenId: "token_1" })).toBe("laptop (token_1)");
  expect(printCaller({ name: "laptop" })).toBe("laptop");
});
