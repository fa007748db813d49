/** Live conversations. */
export * from "./answer.ts";
export { deleteStored } from "./delete.ts";
export { forkStored } from "./fork.ts";
export { MAX_INPUT_BYTES } from "./input.ts";
export { isDriven } from "./lease.ts";
export * from "./open.ts";
export { Session, type Turn } from "./session.ts";
