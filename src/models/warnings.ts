import type { LanguageModelMiddleware } from "ai";
import type { SdkStreamPart } from "./sdk.ts";

/**
 * Takes what a provider's package warns of out of the stream, so that it becomes part of the answer. The SDK would make
 * warnings of the whole process of it, which a program that has Varve inside did not ask for.
 */
export function warningsInto(warnings: string[]): LanguageModelMiddleware {
  return {
    specificationVersion: "v4",
    wrapStream: async ({ doStream }) => {
      const { stream, ...rest } = await doStream();
      const quiet = new TransformStream<SdkStreamPart, SdkStreamPart>({
        transform(part, controller) {
          if (part.type !== "stream-start") return controller.enqueue(part);
          warnings.push(...part.warnings.map(describeWarning));
          controller.enqueue({ ...part, warnings: [] });
        },
      });
      return { ...rest, stream: stream.pipeThrough(quiet) };
    },
  };
}

/** In words for whoever reads the answer's notes. */
export function describeWarning(warning: {
  type: string;
  feature?: string;
  details?: string;
  message?: string;
}): string {
  const { type, feature, details, message } = warning;
  const about = feature === undefined ? type : `${feature} (${type})`;
  const said = message ?? details;
  return `The provider warned of ${about}${said === undefined ? "" : `: ${said}`}`;
}
