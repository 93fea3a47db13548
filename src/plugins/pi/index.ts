/** `varve/pi`: the memory as an extension of the coding agent pi. */
export { createPiExtension } from "./extension.ts";
