import { VarveError } from "../../domain/index.ts";
import { quoteSafely } from "../auth/quote.ts";

/** A program that is installed here and answers with the account it is logged in to. */
export interface InstalledProgram {
  /** `Claude Code` */
  title: string;
  /** The command that logs it in. */
  login: string;
  /** The command that installs or updates it. */
  install: string;
}

export interface ProgramFault {
  /** The program's own message about its failure. */
  text: string;
  /** The HTTP status of the provider, if the program reported it. */
  status?: number;
}

const usageLimit =
  /(?:usage|session|weekly|daily|monthly|hour|opus|sonnet) limit|hit your limit|limit reached|out of (?:extra )?(?:usage|credits)|credit balance is too low|insufficient_quota|quota exceeded/i;
const notLoggedIn =
  /not logged in|run \/login|logged out|sign in again|codex login|invalid (?:x-)?api[ _-]key|incorrect api key|oauth token|authentication_error|failed to authenticate|40[13] (?:unauthorized|forbidden)|missing environment variable|refresh token/i;
const unknownOption = /unknown option|unexpected argument|unrecognized (?:option|argument)/i;
const temporary =
  /\b(?:429|5\d\d)\b|overloaded|rate[_ ]limit|too many requests|timed? ?out|connection (?:error|refused|reset|closed)|disconnected|network error/i;
/** Claude Code may append the end of a limit in seconds since 1970. */
const limitEnd = /\|(\d{10})\b/;

/** The error for a failure that a program reported in words. */
export function createProgramError({ title, login, install }: InstalledProgram, fault: ProgramFault): VarveError {
  const { text, status } = fault;
  const said = quoteSafely(text) || "it gave no reason";
  if (usageLimit.test(text)) {
    const end = limitEnd.exec(text)?.[1];
    return new VarveError("MODEL_PAUSED", `The usage limit of ${title} is reached: ${said}`, {
      remedy: "It is tried again after a pause. Add a fallback model to go on now.",
      details: { because: "limit", ...(end === undefined ? {} : { until: Number(end) * 1_000 }) },
    });
  }
  if (status === 401 || status === 403 || notLoggedIn.test(text)) {
    return new VarveError("MODEL_KEY_REFUSED", `${title} is not logged in: ${said}`, {
      remedy: `Run \`${login}\` as the user that runs Varve, or choose another model.`,
    });
  }
  if (unknownOption.test(text)) {
    return new VarveError("BAD_CONFIG", `${title} does not know an option that is needed: ${said}`, {
      remedy: `Update it with \`${install}\`, and check the arguments in the settings.`,
    });
  }
  const retry = status === undefined ? temporary.test(text) : status === 429 || status >= 500;
  return new VarveError("MODEL_FAILED", `${title} failed: ${said}`, {
    remedy: "Run it by hand with a short text on its standard input to see what is wrong.",
    details: { retry },
  });
}
