/** What every store must do, said as cases that any test runner can run. */
import type { SessionStore } from "../domain/index.ts";

export interface StoreContractCase {
  /** A sentence. */
  readonly name: string;
  /** Opens what it needs and closes it; throws where the store breaks its promise. */
  run(open: () => Promise<SessionStore>): Promise<void>;
}

export const storeContract: readonly StoreContractCase[] = [];
