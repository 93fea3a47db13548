import type { Migration } from "../migrate.ts";
import { foundation } from "./001-foundation.ts";

/** In order of version, without gaps. A released migration is never changed: a change is a new one. */
export const migrations: readonly Migration[] = [foundation];
