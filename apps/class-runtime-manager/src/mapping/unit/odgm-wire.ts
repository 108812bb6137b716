import { create } from "@bufbuild/protobuf";
import type { ClassRuntimeInput, ClassRuntimeSpec } from "@oaas/contracts/crd";
import {
  OdgmConfigSchema,
  StateSpecSchema,
  stateShapeWords,
  type EveryField,
  type InvocationRoutes,
  type OdgmConfig,
  type StateSpec,
} from "@oaas/contracts/grpc";
import { pathOf } from "@oaas/foundation";
import { ShardType } from "@oaas/models";
import { consistencyFromWire, consistencyToWire } from "./function-wire.ts";
import { nonEmptyList, omitUndefined, nonEmptyMap, nonEmptyText } from "../omit-empty.ts";
import type { WireReader } from "./wire-reader.ts";

type SpecInput = ClassRuntimeInput["spec"];
type OdgmInput = NonNullable<SpecInput["odgm_config"]>;
type Odgm = NonNullable<ClassRuntimeSpec["odgm_config"]>;
type StateInput = NonNullable<SpecInput["state_spec"]>;

/** Fields of the state store that the wire format does not have. */
type NotOnWire = "enabled" | "replication_factor" | "cluster_id" | "node_id_prefix";

/** Converts state store settings from the wire format. */
export function odgmFromWire(wire: OdgmConfig, path: string, reader: WireReader): OdgmInput {
  for (const [index, name] of wire.collections.entries()) {
    if (wire.collections.indexOf(name) === index) continue;
    reader.addViolation(pathOf(path, "collections", index), `"${name}" is listed twice`, "list each collection once");
  }
  return omitUndefined({
    collections: nonEmptyList(wire.collections),
    partition_count: wire.partitionCount,
    replica_count: wire.replicaCount,
    shard_type: shardTypeFromWire(wire.shardType, pathOf(path, "shard_type"), reader),
    invocations:
      wire.invocations === undefined
        ? undefined
        : routesFromWire(wire.invocations, pathOf(path, "invocations"), reader),
    options: nonEmptyMap(wire.options),
    log: wire.log,
    env_node_ids: nonEmptyMap(
      mapValues(wire.envNodeIds, ({ ids }, env) => reader.safeIntegers(ids, pathOf(path, "env_node_ids", env, "ids"))),
    ),
    node_id: reader.safeInteger(wire.odgmNodeId, pathOf(path, "odgm_node_id")),
    collection_assignments: nonEmptyMap(
      mapValues(wire.collectionAssignments, ({ assignments }, collection) =>
        assignments.map((one, index) => {
          const at = pathOf(path, "collection_assignments", collection, "assignments", index);
          return omitUndefined({
            primary: reader.safeInteger(one.primary, pathOf(at, "primary")),
            replica: nonEmptyList(reader.safeIntegers(one.replica, pathOf(at, "replica"))),
            shard_ids: nonEmptyList(reader.safeIntegers(one.shardIds, pathOf(at, "shard_ids"))),
          });
        }),
      ),
    ),
    event_processing:
      wire.events === undefined
        ? undefined
        : omitUndefined({
            enabled: wire.events.enabled,
            max_trigger_depth: wire.events.maxTriggerDepth,
            trigger_timeout_ms: wire.events.triggerTimeoutMs,
          }),
    allow_layout_change: wire.allowLayoutChange,
    allow_restart: wire.allowRestart,
  } satisfies EveryField<Omit<OdgmInput, NotOnWire>>);
}

function shardTypeFromWire(given: string | undefined, path: string, reader: WireReader): ShardType | undefined {
  const word = nonEmptyText(given)?.toLowerCase();
  if (word === undefined) return undefined;
  if (Object.hasOwn(ShardType, word)) return word as ShardType;
  return reader.addViolation(path, `"${given}" is not a shard type`, `use ${Object.keys(ShardType).join(", ")}`);
}

function routesFromWire(
  wire: InvocationRoutes,
  path: string,
  reader: WireReader,
): NonNullable<OdgmInput["invocations"]> {
  return omitUndefined({
    fn_routes: nonEmptyMap(
      mapValues(wire.fnRoutes, (route, name) =>
        omitUndefined({
          url: route.url,
          stateless: route.stateless,
          standby: route.standby,
          active_group: nonEmptyList(
            reader.safeIntegers(route.activeGroup, pathOf(path, "fn_routes", name, "active_group")),
          ),
          function_key: nonEmptyText(route.functionKey),
        }),
      ),
    ),
    disabled_fn: nonEmptyList(wire.disabledFn),
  });
}

/** The inverse of `odgmFromWire`. Of collections only the names are kept. */
export function odgmToWire(odgm: Odgm): OdgmConfig {
  const { event_processing: events, invocations } = odgm;
  return create(
    OdgmConfigSchema,
    omitUndefined({
      collections: (odgm.collections ?? []).map((one) => (typeof one === "string" ? one : one.name)),
      partitionCount: odgm.partition_count,
      replicaCount: odgm.replica_count ?? odgm.replication_factor,
      shardType: odgm.shard_type,
      invocations:
        invocations === undefined
          ? undefined
          : {
              fnRoutes: mapValues(invocations.fn_routes ?? {}, (route) =>
                omitUndefined({
                  url: route.url,
                  stateless: route.stateless,
                  standby: route.standby,
                  activeGroup: (route.active_group ?? []).map(BigInt),
                  functionKey: route.function_key,
                }),
              ),
              disabledFn: invocations.disabled_fn ?? [],
            },
      options: odgm.options ?? {},
      log: odgm.log,
      envNodeIds: mapValues(odgm.env_node_ids ?? {}, (ids) => ({ ids: ids.map(BigInt) })),
      odgmNodeId: odgm.node_id === undefined ? undefined : BigInt(odgm.node_id),
      collectionAssignments: mapValues(odgm.collection_assignments ?? {}, (assignments) => ({
        assignments: assignments.map(({ primary, replica = [], shard_ids: shards = [] }) =>
          omitUndefined({
            primary: primary === undefined ? undefined : BigInt(primary),
            replica: replica.map(BigInt),
            shardIds: shards.map(BigInt),
          }),
        ),
      })),
      events:
        events === undefined
          ? undefined
          : omitUndefined({
              enabled: events.enabled ?? (events.event_triggers ?? []).length > 0,
              maxTriggerDepth: events.max_trigger_depth,
              triggerTimeoutMs: events.trigger_timeout_ms,
            }),
      allowLayoutChange: odgm.allow_layout_change,
      allowRestart: odgm.allow_restart,
    } satisfies EveryField<OdgmConfig>),
  );
}

/** Converts a state specification from the wire format. */
export function stateFromWire(wire: StateSpec, path: string, reader: WireReader): StateInput {
  return omitUndefined({
    consistency_model: consistencyFromWire(wire.consistencyModel, pathOf(path, "consistency_model"), reader),
    persistent: wire.persistent,
    shape: reader.enumWord(stateShapeWords, wire.shape, pathOf(path, "shape")),
    serialization_format: wire.serializationFormat,
    default_provider: wire.defaultProvider,
    key_specs: nonEmptyList(
      wire.keySpecs.map(({ name, keyType, nullable }) => omitUndefined({ name, key_type: keyType, nullable })),
    ),
    storage_request: wire.storageRequest,
  } satisfies EveryField<StateInput>);
}

/** The inverse of `stateFromWire`. */
export function stateToWire(state: NonNullable<ClassRuntimeSpec["state_spec"]>): StateSpec {
  const { consistency_model: consistency, shape } = state;
  return create(
    StateSpecSchema,
    omitUndefined({
      consistencyModel: consistency === undefined ? undefined : consistencyToWire(consistency),
      persistent: state.persistent,
      shape: shape === undefined ? undefined : stateShapeWords.toWire(shape),
      serializationFormat: state.serialization_format,
      defaultProvider: state.default_provider,
      keySpecs: (state.key_specs ?? []).map(({ name, key_type: keyType, nullable }) =>
        omitUndefined({ name, keyType, nullable }),
      ),
      storageRequest: state.storage_request,
    } satisfies EveryField<StateSpec>),
  );
}

function mapValues<T, U>(entries: Readonly<Record<string, T>>, map: (value: T, key: string) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(entries).map(([key, value]) => [key, map(value, key)]));
}
