/** What the door needs of Rookery: all that it serves is asked there. */
import type { Store, Tasks } from "../../domain/index.ts";
import type { Rookery } from "../../rookery.ts";

export interface Served extends Pick<
  Rookery,
  "home" | "openSession" | "closeSession" | "forkSession" | "deleteSession" | "answer" | "tell"
> {
  readonly store: Store;
  readonly tasks: Tasks;
}
