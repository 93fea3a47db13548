export type { Generate, Generated, GeneratePurpose, GenerateRequest, NamedModel, TokenUsage } from "./generate.ts";
export { isContextOverflow } from "./overflow.ts";
