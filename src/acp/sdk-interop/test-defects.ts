/** The defects of the official SDK 2.4.0 that this library avoids. */

import {
  deathIsExplained,
  oversizeFailsOneRequest,
  halfCloseIsFlushed,
  noiseIsNotAnswered,
  readingWaitsForTheReader,
} from "./test-bytes.ts";
import { notificationsAreHandledInOrder, proxyKeepsOrder, sessionGetsEarlyUpdates } from "./test-ordering.ts";
import type { Scenario } from "./test-scenario.ts";
import {
  notFoundStaysAnError,
  relativeFolderIsNotSent,
  relativeFolderIsRefused,
  unknownFieldsArrive,
  unknownUpdatesArrive,
} from "./test-values.ts";

export const DEFECTS: readonly Scenario[] = [
  proxyKeepsOrder,
  unknownUpdatesArrive,
  unknownFieldsArrive,
  notFoundStaysAnError,
  sessionGetsEarlyUpdates,
  notificationsAreHandledInOrder,
  noiseIsNotAnswered,
  readingWaitsForTheReader,
  halfCloseIsFlushed,
  oversizeFailsOneRequest,
  deathIsExplained,
  relativeFolderIsNotSent,
  relativeFolderIsRefused,
];
