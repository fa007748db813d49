/** The store contract: test cases that every store implementation must pass, for any test runner. */
import { appendCases } from "./contract/appends.ts";
import { blobCases } from "./contract/blobs.ts";
import { claimCases } from "./contract/claims.ts";
import { closingCases } from "./contract/closing.ts";
import { deleteCases } from "./contract/deleting.ts";
import { feedCases } from "./contract/feed.ts";
import { followCases } from "./contract/following.ts";
import { journalCases } from "./contract/journal.ts";
import { leaseCases } from "./contract/leases.ts";
import { listCases } from "./contract/listing.ts";
import { readCases } from "./contract/reads.ts";
import { requestCases } from "./contract/requests.ts";
import type { StoreContractCase } from "./contract/scene.ts";
import { sharingCases, type SharedStoreContractCase } from "./contract/sharing.ts";
import { taskCases } from "./contract/tasks.ts";
import { textCases } from "./contract/texts.ts";
import { watchCases } from "./contract/watching.ts";
import { workerCases } from "./contract/workers.ts";

export type { StoreContractCase } from "./contract/scene.ts";
export type { SharedStoreContractCase } from "./contract/sharing.ts";

export const storeContract: readonly StoreContractCase[] = [
  ...appendCases,
  ...textCases,
  ...readCases,
  ...followCases,
  ...watchCases,
  ...listCases,
  ...leaseCases,
  ...deleteCases,
  ...journalCases,
  ...requestCases,
  ...blobCases,
  ...taskCases,
  ...claimCases,
  ...feedCases,
  ...workerCases,
  ...closingCases,
];

/** More cases, for stores that several processes can open at once. */
export const sharedStoreContract: readonly SharedStoreContractCase[] = sharingCases;
