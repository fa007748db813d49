/** What Node lacks. */
export * from "./clock.ts";
export * from "./confine.ts";
export * from "./deadline.ts";
export * from "./deferred.ts";
export * from "./dispose-stack.ts";
export * from "./folder.ts";
export * from "./fresh-file.ts";
export * from "./held-folder.ts";
export * from "./nearest.ts";
export * from "./path-refusal.ts";
export * from "./process/activity.ts";
export * from "./process/group.ts";
export * from "./process/identity.ts";
export * from "./process/marker.ts";
export * from "./process/owner.ts";
export * from "./process/place.ts";
export * from "./replace.ts";
export { CONNECTION_LIMITS, endConnection, ServerConnections, type ConnectionLimits } from "./server-connections.ts";
