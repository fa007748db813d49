/** Limits how many programs run in this process concurrently. Each needs a thread with its own memory. */
import { Semaphore } from "../semaphore.ts";

const MAX_PROGRAMS = 16;

export const programSlots = new Semaphore(MAX_PROGRAMS);
