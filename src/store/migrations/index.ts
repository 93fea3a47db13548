import type { Migration } from "../migrate.ts";
import { foundation } from "./001-foundation.ts";
import { context } from "./002-context.ts";
import { largeContent } from "./003-large-content.ts";
import { search } from "./004-search.ts";
import { memory } from "./005-memory.ts";
import { corpus } from "./006-corpus.ts";
import { memoryVectors } from "./007-memory-vectors.ts";
import { turns } from "./008-turns.ts";
import { tentativeMemories } from "./009-tentative-memories.ts";
import { sessions } from "./010-sessions.ts";
import { imports } from "./011-imports.ts";
import { audience } from "./012-audience.ts";
import { secrets } from "./013-secrets.ts";
import { tokens } from "./014-tokens.ts";
import { audit } from "./015-audit.ts";
import { rowSecurity } from "./016-row-security.ts";
import { growth } from "./017-growth.ts";
import { embeddingGaps } from "./018-embedding-gaps.ts";
import { wordIndexMerges } from "./019-word-index-merges.ts";
import { people } from "./020-people.ts";

/** In order of version, without gaps. A released migration never changes: a change is a new migration. */
export const migrations: readonly Migration[] = [
  foundation,
  context,
  largeContent,
  search,
  memory,
  corpus,
  memoryVectors,
  turns,
  tentativeMemories,
  sessions,
  imports,
  audience,
  secrets,
  tokens,
  audit,
  rowSecurity,
  growth,
  embeddingGaps,
  wordIndexMerges,
  people,
];
