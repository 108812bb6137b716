{{- /* Generated from tools/generate/charts by `npm run generate`. Do not edit. */}}
{{- define "oprc-pm.extraEnv" -}}
{{- $own := list "SERVER_HOST" "SERVER_PORT" "GRPC_PORT" "AUTH_MODE" "AUTH_TOKENS_FILE" "METRICS_PORT" "METRICS_HOST" "STORAGE_TYPE" "STORAGE_FILE" "STORAGE_ENCRYPTION_KEY" "ETCD_ENDPOINTS" "ETCD_KEY_PREFIX" "ETCD_TLS_ENABLED" "ETCD_TLS_INSECURE" "ETCD_CA_CERT_PATH" "ETCD_CLIENT_CERT_PATH" "ETCD_CLIENT_KEY_PATH" "ETCD_USERNAME" "ETCD_PASSWORD" "CRM_CLUSTERS_JSON" "CRM_CLUSTERS" "CRM_DEFAULT_URL" "CRM_SECRETS_DIR" "OPRC_PM_SECURITY_TLS_CERT_FILE" "OPRC_PM_SECURITY_TLS_KEY_FILE" "OPRC_PM_SECURITY_TLS_CLIENT_CA_FILE" "OPRC_PM_SECURITY_GRPC_TLS_CERT_FILE" "OPRC_PM_SECURITY_GRPC_TLS_KEY_FILE" "OPRC_PM_SECURITY_GRPC_TLS_CLIENT_CA_FILE" "OPRC_PM_SECURITY_GRPC_TLS_REPORTERS" }}
{{- range .extraEnv }}
{{- if or (has .name $own) (has (trimSuffix "_FILE" .name) $own) }}
{{- fail (printf "extraEnv sets %s, which the chart sets itself: use the value of the chart for it" .name) }}
{{- end }}
{{- end }}
{{- with .extraEnv }}{{ toYaml . }}{{ end }}
{{- end }}
