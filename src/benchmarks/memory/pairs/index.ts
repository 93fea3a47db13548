import { chinese } from "./chinese.ts";
import { english } from "./english.ts";
import { french } from "./french.ts";
import { german } from "./german.ts";
import { italian } from "./italian.ts";
import { japanese } from "./japanese.ts";
import { korean } from "./korean.ts";
import type { LanguagePairs } from "./pair.ts";
import { portuguese } from "./portuguese.ts";
import { russian } from "./russian.ts";
import { spanish } from "./spanish.ts";

export type { Pair } from "./pair.ts";

export const pairs: readonly LanguagePairs[] = [
  english,
  german,
  french,
  spanish,
  italian,
  portuguese,
  russian,
  chinese,
  japanese,
  korean,
];
