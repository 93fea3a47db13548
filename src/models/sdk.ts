import type { wrapLanguageModel } from "ai";
import { sdkAccess } from "./auth/credential.ts";
import { loadPackage } from "./packages.ts";
import type { Access } from "./providers.ts";

/** A model of the AI SDK, as its provider's package makes it. */
export type SdkModel = Parameters<typeof wrapLanguageModel>[0]["model"];

/** The AI SDK's model of a provider; its package is loaded when it is asked for, and not before. */
export async function sdkModel(access: Access, model: string): Promise<SdkModel> {
  const { provider, kind, baseUrl } = access;
  const settings = sdkAccess(access);
  switch (kind) {
    case "anthropic": {
      const { createAnthropic } = await loadPackage("@ai-sdk/anthropic", () => import("@ai-sdk/anthropic"));
      return createAnthropic(settings)(model);
    }
    case "openai": {
      const { createOpenAI } = await loadPackage("@ai-sdk/openai", () => import("@ai-sdk/openai"));
      // The newer interface keeps what it is sent unless told otherwise; this one does not.
      return createOpenAI(settings).chat(model);
    }
    case "google": {
      const { createGoogle } = await loadPackage("@ai-sdk/google", () => import("@ai-sdk/google"));
      return createGoogle(settings)(model);
    }
    default: {
      const name = "@ai-sdk/openai-compatible";
      const { createOpenAICompatible } = await loadPackage(name, () => import("@ai-sdk/openai-compatible"));
      return createOpenAICompatible({ ...settings, name: provider, baseURL: baseUrl ?? "", includeUsage: true })(model);
    }
  }
}
