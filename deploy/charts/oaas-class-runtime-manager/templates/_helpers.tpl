{{- define "oprc-crm.selectorLabels" -}}
app.kubernetes.io/name: oprc-crm
{{- end }}

{{- define "oprc-crm.labels" -}}
app.kubernetes.io/name: oprc-crm
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: oaas
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "oprc-crm.image" -}}
{{- with .Values.image -}}
{{- with .registry }}{{ . }}/{{ end }}{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{- /* A setting as text: whole numbers without an exponent, lists with commas, maps as key=value. */}}
{{- define "oprc-crm.settingText" -}}
{{- if kindIs "float64" . }}{{ if eq (floor .) . }}{{ int64 . }}{{ else }}{{ . }}{{ end }}
{{- else if kindIs "slice" . }}{{ join "," . }}
{{- else if kindIs "map" . }}{{ $pairs := list }}{{ range $key, $value := . }}{{ $pairs = append $pairs (printf "%s=%s" $key $value) }}{{ end }}{{ join "," $pairs }}
{{- else }}{{ . }}{{ end }}
{{- end }}

{{- define "oprc-crm.usesTls" -}}
{{- if ne .Values.certificates.provider "none" }}true{{ end }}
{{- end }}

{{- /* The Secret with the certificate of the server; empty if the manager keeps it in memory. */}}
{{- define "oprc-crm.tlsSecret" -}}
{{- if eq .Values.certificates.provider "cert-manager" }}oprc-crm-tls
{{- else if eq .Values.certificates.provider "secret" }}{{ .Values.certificates.secretName }}
{{- end }}
{{- end }}

{{- /* The Secret with the certificates for reports; empty if there is none, or the manager keeps them in memory. */}}
{{- define "oprc-crm.reportsSecret" -}}
{{- if hasPrefix "https:" .Values.reports.url }}
{{- if eq .Values.reports.tls "provider" }}{{ include "oprc-crm.tlsSecret" . }}
{{- else if eq .Values.reports.tls "secret" }}{{ .Values.reports.tlsSecret }}
{{- end }}
{{- end }}
{{- end }}

{{- /* That Secret, if it is not the one of the server. */}}
{{- define "oprc-crm.ownReportsSecret" -}}
{{- if eq .Values.reports.tls "secret" }}{{ include "oprc-crm.reportsSecret" . }}{{ end }}
{{- end }}

{{- define "oprc-crm.hasVolumes" -}}
{{- if or (include "oprc-crm.tlsSecret" .) .Values.tokenSecret.name .Values.secretSettings (include "oprc-crm.ownReportsSecret" .) (and .Values.reports.url .Values.reports.tokenSecret.name) .Values.extraVolumes .Values.extraVolumeMounts }}true{{ end }}
{{- end }}

{{- define "oprc-crm.serverNames" -}}
{{- $service := printf "oprc-crm.%s" .Release.Namespace -}}
{{- $domain := .Values.settings.OPRC_CRM_CLUSTER_DOMAIN | default "cluster.local" -}}
{{- concat (list $service "oprc-crm" (printf "%s.svc" $service) (printf "%s.svc.%s" $service $domain) "localhost") .Values.certificates.serverNames | toJson }}
{{- end }}

{{- define "oprc-crm.probe" -}}
httpGet:
  path: {{ .path }}
  port: grpc
  {{- if .tls }}
  scheme: HTTPS
  {{- end }}
{{- end }}
