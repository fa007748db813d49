/** Every method that the agent knows beside `session/prompt`. */

import { authenticate, initialize, logout } from "./introduction.ts";
import type { Method } from "./office.ts";
import { close, fork, list, load, open, remove, resume } from "./sessions.ts";
import { setConfigOption, setMode, setModel } from "./settings.ts";

export { admit, offers } from "./introduction.ts";
export type { Office, Usual } from "./office.ts";

export const METHODS: Readonly<Record<string, Method>> = {
  initialize,
  authenticate,
  logout,
  "session/new": open,
  "session/load": load,
  "session/resume": resume,
  "session/fork": fork,
  "session/list": list,
  "session/delete": remove,
  "session/close": close,
  "session/set_mode": setMode,
  "session/set_model": setModel,
  "session/set_config_option": setConfigOption,
};
