{{- define "oprc-pm.selectorLabels" -}}
app.kubernetes.io/name: oprc-pm
{{- end }}

{{- define "oprc-pm.labels" -}}
app.kubernetes.io/name: oprc-pm
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: oaas
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "oprc-pm.image" -}}
{{- with .Values.image -}}
{{- with .registry }}{{ . }}/{{ end }}{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{- /* A setting as text: whole numbers without an exponent, lists with commas, maps as key=value. */}}
{{- define "oprc-pm.settingText" -}}
{{- if kindIs "float64" . }}{{ if eq (floor .) . }}{{ int64 . }}{{ else }}{{ . }}{{ end }}
{{- else if kindIs "slice" . }}{{ join "," . }}
{{- else if kindIs "map" . }}{{ $pairs := list }}{{ range $key, $value := . }}{{ $pairs = append $pairs (printf "%s=%s" $key $value) }}{{ end }}{{ join "," $pairs }}
{{- else }}{{ . }}{{ end }}
{{- end }}

{{- /* The Secret with the tokens of callers; empty if they authenticate with OIDC only. */}}
{{- define "oprc-pm.tokensSecret" -}}
{{- if .Values.authentication.tokensSecret.name }}{{ .Values.authentication.tokensSecret.name }}
{{- else if not .Values.settings.OIDC_ISSUER }}oprc-pm-tokens
{{- end }}
{{- end }}

{{- /* CRM_CLUSTERS_JSON: files instead of secrets. */}}
{{- define "oprc-pm.clusters" -}}
{{- $clusters := dict }}
{{- range $name, $cluster := .Values.clusters }}
{{- $folder := printf "/etc/oprc-pm/clusters/%s" $name }}
{{- $entry := omit $cluster "tlsSecret" "tokenSecret" }}
{{- range $number := list "timeout" "retry_attempts" }}
{{- if hasKey $cluster $number }}{{ $_ := set $entry $number (int64 (get $cluster $number)) }}{{ end }}
{{- end }}
{{- if $cluster.tlsSecret }}
{{- $_ := set $entry "tls" (dict "ca_cert" (printf "%s/tls/ca.crt" $folder) "client_cert" (printf "%s/tls/tls.crt" $folder) "client_key" (printf "%s/tls/tls.key" $folder)) }}
{{- end }}
{{- with $cluster.tokenSecret }}
{{- $_ := set $entry "api_key_file" (printf "%s/token/%s" $folder .key) }}
{{- end }}
{{- $_ := set $clusters $name $entry }}
{{- end }}
{{- toJson $clusters }}
{{- end }}
