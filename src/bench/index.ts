export { benchSpeed } from "./speed.ts";
