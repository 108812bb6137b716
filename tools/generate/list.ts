import { generator as access } from "./reference/access.ts";
import { generator as charts } from "./charts/charts.ts";
import { generator as cli } from "./reference/cli.ts";
import { generator as configuration } from "./reference/configuration.ts";
import { generator as crdReference } from "./reference/crd.ts";
import { generator as crds } from "./contracts/crds.ts";
import { generator as errors } from "./reference/errors.ts";
import { generator as events } from "./reference/events.ts";
import type { Generator } from "./generator.ts";
import { generator as grpc } from "./reference/grpc.ts";
import { generator as health } from "./reference/health.ts";
import { generator as metrics } from "./reference/metrics.ts";
import { generator as monitoring } from "./monitoring/monitoring.ts";
import { generator as placeholders } from "./reference/placeholders.ts";
import { generator as protos } from "./contracts/protos.ts";
import { generator as reasons } from "./reference/reasons.ts";
import { openapi, operations } from "./contracts/rest.ts";
import { generator as rest } from "./reference/rest.ts";

/** All generators, in execution order. */
export const GENERATORS: readonly Generator[] = [
  protos,
  openapi,
  operations,
  crds,
  charts,
  crdReference,
  errors,
  configuration,
  reasons,
  placeholders,
  events,
  health,
  metrics,
  monitoring,
  rest,
  grpc,
  cli,
  access,
];
