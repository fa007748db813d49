/** A typed client for a Rookery server. Works in Node.js and in browsers. */
export { RookeryError, isRookeryError, type ErrorCode } from "../domain/errors.ts";
export { createClient, type ClientOptions, type RookeryClient } from "./client.ts";
export type { FeedEvent } from "../domain/task/store.ts";
export type { Follow, Followable, FollowConnection, FollowOptions } from "./follow.ts";
export { connectLocal, type ConnectLocalOptions } from "./local.ts";
export { errorOf, toUnreachableError } from "./problem.ts";
export type { components, operations, paths } from "./schema.ts";
export { remoteTasks } from "./tasks.ts";
