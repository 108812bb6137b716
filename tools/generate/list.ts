import { generator as cli } from "./cli-reference.ts";
import { generator as configuration } from "./configuration.ts";
import { generator as crdReference } from "./crd-reference.ts";
import { generator as crds } from "./crds.ts";
import { generator as errors } from "./errors-reference.ts";
import { generator as events } from "./events-reference.ts";
import type { Generator } from "./generator.ts";
import { generator as grpc } from "./grpc-reference.ts";
import { generator as metrics } from "./metrics-reference.ts";
import { generator as openapi } from "./openapi.ts";
import { generator as placeholders } from "./placeholders-reference.ts";
import { generator as protos } from "./protos.ts";
import { generator as reasons } from "./reasons-reference.ts";
import { generator as restOperations } from "./rest-operations.ts";
import { generator as rest } from "./rest-reference.ts";

/** Every generator, in the order they run. */
export const GENERATORS: readonly Generator[] = [
  protos,
  openapi,
  restOperations,
  crds,
  crdReference,
  errors,
  configuration,
  reasons,
  placeholders,
  events,
  metrics,
  rest,
  grpc,
  cli,
];
