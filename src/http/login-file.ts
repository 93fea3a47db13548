import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Right } from "../authorization/index.ts";
import { writeAtomically } from "../config/index.ts";
import type { LoginStore } from "./logins.ts";

const loginSchema = z.object({
  name: z.string(),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  rights: z.array(z.enum(["read", "write", "admin"])),
  agents: z.array(z.string()).optional(),
  scopes: z.array(z.string()).optional(),
  tokenId: z.string().optional(),
  expiresAt: z.number(),
});

/** Keeps the logins of browsers in `gateway-logins.json`: hashes only, readable by the owner only. */
export function openLoginFile(home: string, onFailure: (error: unknown) => void): LoginStore {
  const path = join(home, "gateway-logins.json");
  return {
    load() {
      if (!existsSync(path)) return [];
      try {
        const logins = z.array(loginSchema).parse(JSON.parse(readFileSync(path, "utf8")));
        return logins.map(({ hash, rights, ...login }) => ({
          ...login,
          hash: Buffer.from(hash, "hex"),
          rights: new Set<Right>(rights),
        }));
      } catch (error) {
        // Browsers log in again; a file that cannot be read must not keep the gateway from starting.
        onFailure(error);
        return [];
      }
    },
    save(logins) {
      const rows = logins.map(({ name, hash, rights, agents, scopes, tokenId, expiresAt }) => ({
        ...{ name, hash: hash.toString("hex"), rights: [...rights], agents, scopes, tokenId, expiresAt },
      }));
      try {
        writeAtomically(path, `${JSON.stringify(rows)}\n`);
      } catch (error) {
        onFailure(error);
      }
    },
  };
}
