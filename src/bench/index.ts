export { type BenchResult, benchSpeed, type SpeedOptions } from "./speed.ts";
