import type { LanguageModelMiddleware } from "ai";

type StreamPart =
  Awaited<
    ReturnType<Parameters<NonNullable<LanguageModelMiddleware["wrapStream"]>>[0]["doStream"]>
  >["stream"] extends ReadableStream<infer Part>
    ? Part
    : never;

/**
 * Takes what a provider's package warns of out of the stream, so that it becomes part of the answer. The SDK would make
 * warnings of the whole process of it, which a program that has Varve inside did not ask for.
 */
export function warningsInto(warnings: string[]): LanguageModelMiddleware {
  return {
    specificationVersion: "v4",
    wrapStream: async ({ doStream }) => {
      const { stream, ...rest } = await doStream();
      const quiet = new TransformStream<StreamPart, StreamPart>({
        transform(part, controller) {
          if (part.type !== "stream-start") return controller.enqueue(part);
          warnings.push(...part.warnings.map(describe));
          controller.enqueue({ ...part, warnings: [] });
        },
      });
      return { ...rest, stream: stream.pipeThrough(quiet) };
    },
  };
}

function describe(warning: { type: string; feature?: string; details?: string; message?: string }): string {
  const { type, feature, details, message } = warning;
  const about = feature === undefined ? type : `${feature} (${type})`;
  const said = message ?? details;
  return `The provider warned of ${about}${said === undefined ? "" : `: ${said}`}`;
}
