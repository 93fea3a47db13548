import { VarveError } from "../../../domain/index.ts";

/** The part of onnxruntime-node in use; the package has no types. */
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

/**
 * Version 1.16.3 is deliberate. 1.30.0 runs this model 10% faster, but needs 288 MB instead of 98 MB, downloads from
 * nuget.org on installation, has no binary for Intel Macs, and gives other vectors, so every text would be embedded again.
 */
const packageName = "onnxruntime-node";

/** Loads the native runtime, an optional package, because it has no binary for some machines. */
export async function loadOnnxRuntime(): Promise<OnnxRuntime> {
  try {
    const module = (await import(packageName)) as OnnxRuntime & { default?: OnnxRuntime };
    return module.default ?? module;
  } catch (cause) {
    throw new VarveError("MISSING_PACKAGE", `The package ${packageName} cannot be loaded on this machine.`, {
      remedy: `Run \`npm install ${packageName}@1.16.3\`. Without it, search uses words only.`,
      cause,
    });
  }
}
