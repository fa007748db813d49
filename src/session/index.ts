/** Live conversations. */
export { commandOf } from "./expand.ts";
export * from "./answer.ts";
export { deleteStored } from "./delete.ts";
export type { Changes, Prepare, Prepared, Settings } from "./driver.ts";
export { forkStored } from "./fork.ts";
export { MAX_INPUT_BYTES } from "./input.ts";
export { abandonLease } from "./abandoned-leases.ts";
export { keepLease } from "./lease-keeper.ts";
export { DEFAULT_LEASE_TIMING, type LeaseTiming } from "./lease-timing.ts";
export { giveBackLease, isDriven, takeLease } from "./lease.ts";
export * from "./open.ts";
export {
  checkForkOptions,
  checkOpenOptions,
  checkRemoteServerSpec,
  checkServerSpecs,
  checkText,
} from "./parameters.ts";
export { MAX_MESSAGES, type ReplacedMessage } from "./conversation.ts";
export type { Turn } from "./reading.ts";
export { Session, type Deliver } from "./session.ts";
export { isPassingFailure, retryStore } from "./store-retry.ts";
export { refuseIfOfRunningTask, runningTaskOf } from "./task-session.ts";
export { tellStored } from "./tell.ts";
