import { VarveError } from "../../../domain/index.ts";

/** What is used of onnxruntime-node, which ships no types of its own. */
export interface OnnxRuntime {
  InferenceSession: {
    create(model: Uint8Array, options: { intraOpNumThreads: number; interOpNumThreads: number }): Promise<OnnxSession>;
  };
  Tensor: new (type: "int64", data: BigInt64Array, shape: number[]) => OnnxTensor;
}

export interface OnnxSession {
  run(inputs: Record<string, OnnxTensor>): Promise<Record<string, OnnxTensor>>;
}

export interface OnnxTensor {
  data: unknown;
}

const packageName = "onnxruntime-node";

/** Loads the native runtime, which is an optional package: not every machine has a binary for it. */
export async function loadOnnxRuntime(): Promise<OnnxRuntime> {
  try {
    const module = (await import(packageName)) as OnnxRuntime & { default?: OnnxRuntime };
    return module.default ?? module;
  } catch (cause) {
    throw new VarveError("MISSING_PACKAGE", `The package ${packageName} cannot be loaded on this machine.`, {
      remedy: `Run \`npm install ${packageName}@1.16.3\`; without it search works on words alone.`,
      cause,
    });
  }
}
