import { z } from "zod";

const source = z
  .string()
  .regex(
    /^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:.+|command:.+)$/,
    "must be env:NAME, file:PATH or command:PROGRAM ARGUMENTS",
  );

/** Encryption of texts in the database and in backups. */
export const encryptionSection = z.strictObject({
  key: source
    .optional()
    .describe(
      "Where the key is that encrypts messages, files, summaries, memories and backups: env:NAME, file:PATH or command:PROGRAM ARGUMENTS. It is 32 bytes in base64 or hex; `varve db keygen` prints one. The word index and the vectors are not encrypted.",
    ),
  previousKeys: z
    .array(source)
    .default([])
    .describe(
      "Where earlier keys are, while texts that they encrypted remain; `varve db seal` encrypts them with the current key.",
    ),
});
