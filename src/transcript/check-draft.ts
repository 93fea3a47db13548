import { type EntryDraft, entryTypes, isJsonObject, type JsonObject, roles, VarveError } from "../domain/index.ts";

const partFields: Record<string, Record<string, "string" | "array" | "object" | "any">> = {
  text: { text: "string" },
  reasoning: { text: "string" },
  tool_call: { callId: "string", name: "string", input: "any" },
  tool_result: { callId: "string", output: "any" },
  file: { source: "object" },
  image: { source: "object" },
  patch: { hash: "string", files: "array" },
  subtask: { prompt: "string" },
  agent: { name: "string" },
  step_start: {},
  step_finish: {},
  snapshot: { snapshot: "string" },
  compaction: {},
  retry: { attempt: "any", error: "any" },
  opaque: { raw: "object" },
};

const idLengthMax = 512;

function badMessageError(what: string, remedy: string): VarveError {
  return new VarveError("BAD_MESSAGE", what, { remedy });
}

/** Rejects a draft that could not be read back unchanged. The error names the place and the reason. */
export function checkDraft(draft: EntryDraft): void {
  if (!isJsonObject(draft as unknown)) throw badMessageError("An entry must be an object.", "Send {type, …}.");
  if (!entryTypes.includes(draft.type)) {
    throw badMessageError(
      `An entry cannot have the type ${JSON.stringify(draft.type)}.`,
      `Use one of ${entryTypes.join(", ")}.`,
    );
  }
  checkId("id", draft.id);
  checkId("parentId", draft.parentId);
  checkTime(draft.time);
  if (draft.type === "message" || draft.type === "custom_message") checkMessage(draft.message);
}

function checkId(name: string, id: unknown): void {
  if (id === undefined || id === null) return;
  if (typeof id !== "string" || id === "" || id.length > idLengthMax || id.includes("\u0000") || !id.isWellFormed()) {
    throw badMessageError(
      `The ${name} ${JSON.stringify(id)?.slice(0, 80)} is not valid.`,
      `Send a string of 1 to ${idLengthMax} characters without NUL.`,
    );
  }
}

function checkTime(time: unknown): void {
  if (time === undefined) return;
  if (typeof time !== "number" || !Number.isFinite(time) || Math.abs(time) > 8.64e15) {
    throw badMessageError(
      `The time ${JSON.stringify(time)} is not a number of milliseconds since 1970.`,
      "Send for example Date.now().",
    );
  }
}

export function checkMessage(message: unknown): void {
  if (!isJsonObject(message))
    throw badMessageError("A message must be an object.", 'Send {role: "user", content: "…"}.');
  if (!roles.includes(message.role as never)) {
    throw badMessageError(
      `A message cannot have the role ${JSON.stringify(message.role)}.`,
      `Use one of ${roles.join(", ")}.`,
    );
  }
  checkId("id", message.id);
  checkTime(message.time);
  if (typeof message.content === "string") return;
  if (!Array.isArray(message.content)) {
    throw badMessageError(
      "A message's content must be a string or a list of parts.",
      'Send for example [{type: "text", text: "…"}].',
    );
  }
  for (const [index, part] of message.content.entries()) checkPart(part, `content[${index}]`);
}

function checkPart(part: unknown, place: string): void {
  if (!isJsonObject(part))
    throw badMessageError(`${place} is not a part.`, 'Send for example {type: "text", text: "…"}.');
  const fields = partFields[part.type as string];
  if (!fields) {
    throw badMessageError(
      `${place} has the unknown type ${JSON.stringify(part.type)}.`,
      `Use one of ${Object.keys(partFields).join(", ")}.`,
    );
  }
  for (const [name, kind] of Object.entries(fields)) checkField(part, name, kind, place);
  if (part.type === "tool_result" && Array.isArray(part.output)) {
    for (const [index, inner] of part.output.entries()) checkPart(inner, `${place}.output[${index}]`);
  }
}

function checkField(part: JsonObject, name: string, kind: string, place: string): void {
  const value = part[name] as unknown;
  const fits =
    kind === "any"
      ? value !== undefined
      : kind === "array"
        ? Array.isArray(value)
        : kind === "object"
          ? isJsonObject(value)
          : typeof value === kind;
  if (!fits)
    throw badMessageError(
      `${place} (${part.type}) needs ${name}${kind === "any" ? "" : ` as ${kind}`}.`,
      "Add the field and send the message again.",
    );
}
