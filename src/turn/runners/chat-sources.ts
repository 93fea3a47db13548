import { checkProfile, type ProviderSources } from "../../models/index.ts";
import type { Session } from "../../session/index.ts";
import type { TurnHost } from "../host.ts";

/** Where the models of a session find their keys: in the profile somebody chose for it, if it is of their provider. */
export function chatSources({ config, home }: TurnHost, { authProfileOverride: profile }: Session): ProviderSources {
  const { providers, auth } = config.models;
  if (profile !== undefined) checkProfile(auth, profile);
  return { providers, auth, env: process.env, home, ...(profile === undefined ? {} : { profile }) };
}
