import { checkScope, findNameFault, type Principal, type Right } from "../../authorization/index.ts";
import { newId, VarveError } from "../../domain/index.ts";
import type { AccessTokenTable, Store } from "../../store/index.ts";
import {
  type AccessToken,
  defaultLifeMs,
  hashTokenSecret,
  type IssuedToken,
  parseExpiry,
  parseGrace,
  type TokenState,
  tokenFromRow,
  tokenState,
} from "./access-token.ts";

export interface NewAccessToken {
  name: string;
  rights: readonly Right[];
  agent?: string;
  scopes?: readonly string[];
  /** A duration such as `30d`, a date, or `never`; 90 days when absent. */
  expires?: string;
}

/** Who asks; the owner when absent. */
interface Issuer {
  principal?: Principal;
}

/** Creates, lists, rotates and revokes the access tokens in the database. Every gateway on it accepts them. */
export interface AccessTokenService {
  create(request: NewAccessToken, issuer?: Issuer): Promise<IssuedToken>;
  /** The newest first. */
  list(): Promise<AccessToken[]>;
  /**
   * Replaces a token by a new one with the same name, rights and lifetime. The old one is accepted for the grace period,
   * by default not at all.
   */
  rotate(idOrName: string, options?: Issuer & { grace?: string; expires?: string }): Promise<IssuedToken>;
  /** A token that is revoked already stays as it is. */
  revoke(idOrName: string, issuer?: Issuer): Promise<AccessToken>;
  /** The token of a secret, in whatever state; undefined when there is none. */
  findBySecret(secret: string): Promise<AccessToken | undefined>;
  /** The state of a token; undefined when there is none with this id. */
  readState(id: string): Promise<TokenState | undefined>;
  /** Records a use, unless one within the last minute is recorded. */
  recordUse(id: string): Promise<void>;
  countActive(): Promise<number>;
}

const secretBytes = 32;
const nameLengthMax = 100;
const useIntervalMs = 60_000;

/** Names of the settings' tokens, which are in no table. */
export interface AccessTokenOptions {
  configured?: readonly { name: string; expiresAt?: string | undefined }[];
}

export function createAccessTokenService(
  store: Store,
  { configured = [] }: AccessTokenOptions = {},
): AccessTokenService {
  const { db, clock, random } = store;
  const createSecret = (): string => `varve_${Buffer.from(random.bytes(secretBytes)).toString("base64url")}`;
  const buildRow = (given: Omit<AccessTokenTable, "id" | "last_used_at" | "revoked_at">): AccessTokenTable => ({
    ...given,
    id: `token_${newId(clock, random)}`,
    last_used_at: null,
    revoked_at: null,
  });
  return {
    async create(request, { principal } = {}) {
      const now = clock.now();
      const secret = createSecret();
      const row = buildRow({
        ...checkRequest(request),
        hash: hashTokenSecret(secret),
        created_at: now,
        expires_at: request.expires === undefined ? now + defaultLifeMs : parseExpiry(request.expires, now),
        rotated_from: null,
      });
      refuseWiderScopes(principal, row);
      await store.transaction(async (tx) => {
        await tx.lock("tokens");
        const same = await tx.db.selectFrom("tokens").selectAll().where("name", "=", row.name).execute();
        if (same.some((one) => tokenState(one, now) === "active")) throw nameTaken(row.name);
        if (configured.some((one) => one.name === row.name && isUnexpired(one, now))) throw nameConfigured(row.name);
        await tx.db.insertInto("tokens").values(row).execute();
      });
      return { token: tokenFromRow(row, now), secret };
    },

    async list() {
      const rows = await db
        .selectFrom("tokens")
        .selectAll()
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .execute();
      const now = clock.now();
      return rows.map((row) => tokenFromRow(row, now));
    },

    async rotate(idOrName, { principal, grace, expires } = {}) {
      const now = clock.now();
      const graceMs = grace === undefined ? 0 : parseGrace(grace);
      const secret = createSecret();
      const row = await store.transaction(async (tx) => {
        await tx.lock("tokens");
        const old = await findRow(tx.db, idOrName, now);
        refuseWiderScopes(principal, old);
        if (tokenState(old, now) === "revoked") throw alreadyRevoked(old);
        if (old.revoked_at !== null) throw alreadyRotated(old);
        refuseReservedName(old.name);
        const next = buildRow({
          ...old,
          hash: hashTokenSecret(secret),
          created_at: now,
          expires_at: expires === undefined ? renewExpiry(old, now) : parseExpiry(expires, now),
          rotated_from: old.id,
        });
        await tx.db.insertInto("tokens").values(next).execute();
        await tx.db
          .updateTable("tokens")
          .set({ revoked_at: now + graceMs })
          .where("id", "=", old.id)
          .execute();
        return next;
      });
      return { token: tokenFromRow(row, now), secret };
    },

    async revoke(idOrName, { principal } = {}) {
      const now = clock.now();
      return store.transaction(async (tx) => {
        await tx.lock("tokens");
        const row = await findRow(tx.db, idOrName, now);
        refuseWiderScopes(principal, row);
        if (tokenState(row, now) === "revoked") return tokenFromRow(row, now);
        await tx.db.updateTable("tokens").set({ revoked_at: now }).where("id", "=", row.id).execute();
        return tokenFromRow({ ...row, revoked_at: now }, now);
      });
    },

    async findBySecret(secret) {
      const row = await db
        .selectFrom("tokens")
        .selectAll()
        .where("hash", "=", hashTokenSecret(secret))
        .executeTakeFirst();
      return row && tokenFromRow(row, clock.now());
    },

    async readState(id) {
      const row = await db
        .selectFrom("tokens")
        .select(["expires_at", "revoked_at"])
        .where("id", "=", id)
        .executeTakeFirst();
      return row && tokenState(row, clock.now());
    },

    async recordUse(id) {
      const now = clock.now();
      const update = db
        .updateTable("tokens")
        .set({ last_used_at: now })
        .where("id", "=", id)
        .where((eb) => eb.or([eb("last_used_at", "is", null), eb("last_used_at", "<=", now - useIntervalMs)]));
      await store.writeBatch([update], { sync: false });
    },

    async countActive() {
      const rows = await db.selectFrom("tokens").select(["expires_at", "revoked_at"]).execute();
      const now = clock.now();
      return rows.filter((row) => tokenState(row, now) === "active").length;
    },
  };
}

function checkRequest({ name, rights, agent, scopes }: NewAccessToken) {
  if (name.trim() === "" || name.length > nameLengthMax) {
    throw new VarveError("BAD_REQUEST", "A token needs a name.", {
      remedy: `Name the program or person that uses it, in at most ${nameLengthMax} characters.`,
    });
  }
  refuseReservedName(name);
  if (rights.length === 0) {
    throw new VarveError("BAD_REQUEST", "A token needs at least one right.", {
      remedy: "Name some of read, write and admin.",
    });
  }
  return {
    name,
    agent: agent?.toLowerCase() ?? null,
    scopes: scopes === undefined ? null : JSON.stringify(scopes.map(checkScope)),
    rights: JSON.stringify([...new Set(rights)]),
  };
}

function refuseReservedName(name: string): void {
  const fault = findNameFault(name);
  if (fault === undefined) return;
  throw new VarveError("BAD_REQUEST", `The name ${JSON.stringify(name)} of a token ${fault}.`, {
    remedy: "Name the program or person that uses it.",
  });
}

function isUnexpired({ expiresAt }: { expiresAt?: string | undefined }, now: number): boolean {
  return expiresAt === undefined || Date.parse(expiresAt) > now;
}

/** A rotated token lives as long as the one that it replaces did. */
function renewExpiry({ created_at, expires_at }: AccessTokenTable, now: number): number | null {
  return expires_at === null ? null : now + (expires_at - created_at);
}

/** Finds a token by its id, or by its name: the active one, else the newest. */
async function findRow(db: Store["db"], idOrName: string, now: number): Promise<AccessTokenTable> {
  const rows = await db
    .selectFrom("tokens")
    .selectAll()
    .where((eb) => eb.or([eb("id", "=", idOrName), eb("name", "=", idOrName)]))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .execute();
  const found =
    rows.find((row) => row.id === idOrName) ??
    rows.find((row) => tokenState(row, now) === "active" && row.revoked_at === null) ??
    rows[0];
  if (found) return found;
  throw new VarveError(
    "NOT_FOUND",
    `There is no access token ${JSON.stringify(idOrName.slice(0, 200))} in the database.`,
    {
      remedy:
        "`varve tokens list` and GET /api/tokens list them. Tokens of the settings are changed in gateway.tokens.",
    },
  );
}

/** A principal with limited scopes must not obtain a token that reaches more than it does itself. */
function refuseWiderScopes(principal: Principal | undefined, { scopes }: Pick<AccessTokenTable, "scopes">): void {
  if (principal?.scopes === undefined || principal.scopes === "all") return;
  const own = principal.scopes;
  const asked = scopes === null ? undefined : (JSON.parse(scopes) as string[]);
  if (asked?.every((scope) => own.includes(scope))) return;
  throw new VarveError("FORBIDDEN", "This token reaches memory scopes that yours does not.", {
    remedy: `Name scopes among ${own.join(", ") || "none"}, or use a token without scopes.`,
  });
}

function nameTaken(name: string): VarveError {
  return new VarveError("CONFLICT", `There is an active access token with the name ${JSON.stringify(name)}.`, {
    remedy: "Choose another name, or replace its secret with `varve tokens rotate`.",
  });
}

function nameConfigured(name: string): VarveError {
  return new VarveError(
    "CONFLICT",
    `The setting gateway.tokens has an access token with the name ${JSON.stringify(name)}.`,
    {
      remedy: "Choose another name, or remove the token from gateway.tokens.",
    },
  );
}

function alreadyRevoked({ id, name }: AccessTokenTable): VarveError {
  return new VarveError("CONFLICT", `The access token ${JSON.stringify(name)} (${id}) is revoked and stays so.`, {
    remedy: "Create a new one with `varve tokens create`.",
  });
}

function alreadyRotated({ id, name }: AccessTokenTable): VarveError {
  return new VarveError("CONFLICT", `The access token ${JSON.stringify(name)} (${id}) was rotated already.`, {
    remedy: "Rotate the token that replaced it; `varve tokens list` shows it.",
  });
}
