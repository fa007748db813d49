/** The handlers of all methods except `session/prompt`. */

import { handleAuthenticate, handleInitialize, handleLogout } from "./initialize.ts";
import type { MethodHandler } from "./method.ts";
import { handleClose, handleFork, handleList, handleLoad, handleNew, handleDelete, handleResume } from "./sessions.ts";
import { handleSetConfigOption, handleSetMode, handleSetModel } from "./settings.ts";

export { requireAuthentication, offersMethod } from "./initialize.ts";
export type { MethodContext, DefaultResponse } from "./method.ts";

export const METHODS: Readonly<Record<string, MethodHandler>> = {
  initialize: handleInitialize,
  authenticate: handleAuthenticate,
  logout: handleLogout,
  "session/new": handleNew,
  "session/load": handleLoad,
  "session/resume": handleResume,
  "session/fork": handleFork,
  "session/list": handleList,
  "session/delete": handleDelete,
  "session/close": handleClose,
  "session/set_mode": handleSetMode,
  "session/set_model": handleSetModel,
  "session/set_config_option": handleSetConfigOption,
};
