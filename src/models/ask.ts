import { VarveError } from "../domain/index.ts";
import type { Generated, GenerateRequest, NamedModel } from "./generate.ts";
import { abortedBy, untilAborted } from "./wait.ts";

/**
 * Asks once, for at most so long. A failure of the model is a value; what ends everything is thrown: `ABORTED` when the
 * caller gave up, `MODEL_TIMEOUT` when the time is over.
 */
export async function ask(
  model: NamedModel,
  request: GenerateRequest,
  timeoutMs: number,
): Promise<{ answer: Generated } | { error: unknown }> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = request.signal === undefined ? timeout : AbortSignal.any([request.signal, timeout]);
  try {
    return { answer: await untilAborted(model.call({ ...request, signal }), signal) };
  } catch (error) {
    if (request.signal?.aborted) throw abortedBy(request.signal);
    if (timeout.aborted || isNamed(error, "TimeoutError")) {
      throw new VarveError("MODEL_TIMEOUT", `${model.name} did not answer within ${timeoutMs} ms.`, {
        remedy: "Choose a faster model, or allow more time.",
        cause: error,
        details: { model: model.name, timeoutMs },
      });
    }
    if (isNamed(error, "AbortError")) throw error;
    return { error };
  }
}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}
