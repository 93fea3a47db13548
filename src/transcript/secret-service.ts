import { type JsonObject, VarveError } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import { captureSecrets } from "./capture-secrets.ts";

/** A credential that was taken out of a message; its text is opened one by one. */
export interface KeptSecret {
  id: string;
  kind: string;
  createdAt: number;
}

/** The credentials that were taken out of messages (`redact.capture: seal`). Only the owner of the machine gets them. */
export interface SecretService {
  /** The kept credentials, newest first, without their texts. */
  list(request?: { agent?: string; limit?: number }): Promise<KeptSecret[]>;
  /** The text of a credential, byte for byte. */
  open(id: string, agent?: string): Promise<string>;
}

export function createSecretService(store: Store, defaultAgent: string): SecretService {
  return {
    async list({ agent = defaultAgent, limit = 100 } = {}) {
      const rows = await store.db
        .selectFrom("secrets")
        .select(["id", "kind", "created_at"])
        .where("agent", "=", agent)
        .orderBy("created_at", "desc")
        .orderBy("id")
        .limit(limit)
        .execute();
      return rows.map(({ id, kind, created_at }) => ({ id, kind, createdAt: created_at }));
    },
    async open(id, agent = defaultAgent) {
      const row = await store.db
        .selectFrom("secrets")
        .select("text")
        .where("agent", "=", agent)
        .where("id", "=", id)
        .executeTakeFirst();
      if (row) return row.text;
      throw new VarveError("NOT_FOUND", `No credential ${JSON.stringify(id.slice(0, 60))} is kept.`, {
        remedy: "Take an id (sec_…) from a placeholder or from `varve secrets list`.",
      });
    },
  };
}

/** Takes credentials out of a text that is stored outside of the log, and keeps them aside. */
export async function captureInText(store: Store, agent: string, text: string): Promise<string> {
  if (!store.capture) return text;
  const { value, secrets } = captureSecrets({ text } satisfies JsonObject, store.capture);
  if (secrets.length > 0) {
    const created_at = store.clock.now();
    await store.transaction((tx) =>
      tx.db
        .insertInto("secrets")
        .values(secrets.map((secret) => ({ agent, ...secret, created_at })))
        .onConflict((conflict) => conflict.columns(["agent", "id"]).doNothing())
        .execute(),
    );
  }
  return value.text;
}
