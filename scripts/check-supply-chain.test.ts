import { expect, it } from "vitest";
import { findFaults, packageName, type SupplyChain } from "./check-supply-chain.ts";

const sound: SupplyChain = {
  manifest: { dependencies: { a: "1.0.0" }, devDependencies: { b: "2.0.0-rc.1" }, allowScripts: { b: true, c: false } },
  locked: {
    "": {},
    "node_modules/a": { integrity: "sha512-x" },
    "node_modules/b": { integrity: "sha512-y", dev: true, hasInstallScript: true },
    "node_modules/a/node_modules/c": { integrity: "sha512-z" },
  },
  withScripts: ["node_modules/a/node_modules/c"],
  explanation: "`b` fetches Node; `c` has a build that is not run",
};

it("finds nothing wrong with pinned packages, integrity, and scripts that are listed and explained", () => {
  expect(findFaults(sound)).toEqual([]);
  expect(packageName("node_modules/a/node_modules/@s/c")).toBe("@s/c");
});

it("finds a package without integrity, from elsewhere, or with a weak hash", () => {
  const locked = {
    ...sound.locked,
    "node_modules/d": {},
    "node_modules/e": { integrity: "sha1-x" },
    "node_modules/f": { integrity: "sha512-x", resolved: "git+ssh://git@example.com/f.git" },
  };
  expect(findFaults({ ...sound, locked })).toEqual([
    "node_modules/d has no SHA-512 integrity in package-lock.json.",
    "node_modules/e has no SHA-512 integrity in package-lock.json.",
    "node_modules/f has an address of its own in package-lock.json: git+ssh://git@example.com/f.git.",
  ]);
});

it("finds a version that is not pinned", () => {
  const manifest = { ...sound.manifest, optionalDependencies: { o: "^1.0.0" } };
  expect(findFaults({ ...sound, manifest })).toEqual([
    "optionalDependencies: o is not pinned to one version (^1.0.0).",
  ]);
});

it("finds an install script that nobody listed, explained, or that users would run", () => {
  expect(findFaults({ ...sound, withScripts: ["node_modules/a"] })).toEqual([
    "a has an install script and is not listed in allowScripts.",
    "docs/supply-chain.md does not explain the script of a.",
  ]);
  const manifest = { ...sound.manifest, allowScripts: { b: true, c: true } };
  expect(findFaults({ ...sound, manifest })).toEqual(["c would run a script in installations of users."]);
});
