import type { Subject } from "./case.ts";
import { access } from "../cases/access.ts";
import { serverSideApply } from "../cases/apply.ts";
import { deletion } from "../cases/deletion.ts";
import { discovery, tables } from "../cases/discovery.ts";
import { garbage } from "../cases/garbage.ts";
import { kubectlCases, kubectlWorkloads } from "../cases/kubectl.ts";
import { metadata } from "../cases/metadata.ts";
import { paging } from "../cases/paging.ts";
import { patches } from "../cases/patches.ts";
import { proxiesAndLogs } from "../cases/proxies-and-logs.ts";
import { quota } from "../cases/quota.ts";
import { schemas } from "../cases/schemas.ts";
import { subresources } from "../cases/subresources.ts";
import { verbs } from "../cases/verbs.ts";
import { watches } from "../cases/watches.ts";
import { workloads } from "../cases/workloads.ts";
import { wrongInput } from "../cases/wrong-input.ts";

/** Every subject, in the order of the table. */
export const SUBJECTS: readonly Subject[] = [
  verbs,
  patches,
  serverSideApply,
  schemas,
  watches,
  paging,
  deletion,
  metadata,
  subresources,
  proxiesAndLogs,
  discovery,
  tables,
  wrongInput,
  access,
  garbage,
  quota,
  workloads,
  kubectlCases,
  kubectlWorkloads,
];
