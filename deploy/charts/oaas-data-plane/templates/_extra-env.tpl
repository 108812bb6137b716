{{- /* Generated from tools/generate/charts by `npm run generate`. Do not edit. */}}
{{- define "oprc-router.extraEnv" -}}
{{- $own := list "OPRC_LOG" "OPRC_ZENOH_MODE" "OPRC_ZENOH_PORT" "OPRC_ZENOH_PROTOCOL" "OPRC_ZENOH_PEERS" "OPRC_ZENOH_CONFIG" "OPRC_ZENOH_SCOUTING_MULTICAST_ENABLED" }}
{{- range .extraEnv }}
{{- if or (has .name $own) (has (trimSuffix "_FILE" .name) $own) }}
{{- fail (printf "extraEnv sets %s, which the chart sets itself: use the value of the chart for it" .name) }}
{{- end }}
{{- end }}
{{- with .extraEnv }}{{ toYaml . }}{{ end }}
{{- end }}
{{- /* Generated from tools/generate/charts by `npm run generate`. Do not edit. */}}
{{- define "oprc-gateway.extraEnv" -}}
{{- $own := list "HTTP_PORT" "REQUEST_TIMEOUT_MS" "MAX_PAYLOAD_BYTES" "RUST_LOG" "OPRC_ZENOH_MODE" "OPRC_ZENOH_PEERS" "OPRC_ZENOH_SCOUTING_MULTICAST_ENABLED" }}
{{- range .extraEnv }}
{{- if or (has .name $own) (has (trimSuffix "_FILE" .name) $own) }}
{{- fail (printf "extraEnv sets %s, which the chart sets itself: use the value of the chart for it" .name) }}
{{- end }}
{{- end }}
{{- with .extraEnv }}{{ toYaml . }}{{ end }}
{{- end }}
