import type { DescFile } from "@bufbuild/protobuf";
import { file_google_protobuf_struct } from "@bufbuild/protobuf/wkt";
import { file_common } from "../../gen/common_pb.ts";
import { file_deployment } from "../../gen/deployment_pb.ts";
import { file_deployment_types } from "../../gen/deployment_types_pb.ts";
import { file_explanation } from "../../gen/explanation_pb.ts";
import { file_fault } from "../../gen/fault_pb.ts";
import { file_grpc_health_v1_health } from "../../gen/grpc/health/v1/health_pb.ts";
import { file_grpc_reflection_v1_reflection } from "../../gen/grpc/reflection/v1/reflection_pb.ts";
import { file_grpc_reflection_v1alpha_reflection } from "../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { file_health } from "../../gen/health_pb.ts";
import { file_inspection } from "../../gen/inspection_pb.ts";
import { file_state_store } from "../../gen/state_store_pb.ts";
import { file_oprc_data } from "../../gen/oprc-data_pb.ts";
import { file_oprc_invoke } from "../../gen/oprc-invoke_pb.ts";
import { file_oprc_route } from "../../gen/oprc-route_pb.ts";
import { file_package } from "../../gen/package_pb.ts";
import { file_runtime } from "../../gen/runtime_pb.ts";
import { file_topology } from "../../gen/topology_pb.ts";

/**
 * The descriptors of all proto files, dependencies first, for server reflection. They are part of the code, so that a
 * bundle contains them.
 */
export const FILE_DESCRIPTORS: readonly DescFile[] = [
  file_google_protobuf_struct,
  file_common,
  file_fault,
  file_deployment_types,
  file_runtime,
  file_explanation,
  file_deployment,
  file_package,
  file_health,
  file_topology,
  file_inspection,
  file_oprc_data,
  file_state_store,
  file_oprc_invoke,
  file_oprc_route,
  file_grpc_health_v1_health,
  file_grpc_reflection_v1_reflection,
  file_grpc_reflection_v1alpha_reflection,
];
