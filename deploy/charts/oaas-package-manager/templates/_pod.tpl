{{- /* The pod of the StatefulSet (sqlite) and of the Deployment (etcd). */}}
{{- define "oprc-pm.pod" -}}
{{- $tokensSecret := include "oprc-pm.tokensSecret" . }}
{{- $etcd := .Values.storage.etcd }}
{{- if and .Values.reports.enabled (not .Values.reports.tlsSecret) (not .Values.tls.secretName) }}
{{- fail "reports.enabled needs a certificate: set reports.tlsSecret" }}
{{- end }}
{{- if and .Values.reports.reporters (not .Values.reports.tlsSecret) }}
{{- fail "reports.reporters names client certificates: set reports.tlsSecret with their authorities in ca.crt" }}
{{- end }}
metadata:
  labels:
    {{- include "oprc-pm.labels" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .Values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: oprc-pm
  # It does not call the Kubernetes API.
  automountServiceAccountToken: false
  enableServiceLinks: false
  # Graceful shutdown: with etcd SERVER_SHUTDOWN_DELAY (5 s) for the Service to choose other pods, then SERVER_SHUTDOWN_GRACE
  # (10 s) each for running requests, sagas and audit entries.
  terminationGracePeriodSeconds: 40
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  topologySpreadConstraints:
    {{- if .Values.topologySpreadConstraints }}
    {{- toYaml .Values.topologySpreadConstraints | nindent 4 }}
    {{- else }}
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "oprc-pm.selectorLabels" . | nindent 10 }}
    {{- end }}
  containers:
    - name: pm
      image: {{ include "oprc-pm.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      ports:
        - name: http
          containerPort: 8080
        {{- if .Values.reports.enabled }}
        - name: reports
          containerPort: 8081
        {{- end }}
        {{- if .Values.metrics.enabled }}
        - name: metrics
          containerPort: 9088
        {{- end }}
      env:
        - name: SERVER_HOST
          value: 0.0.0.0
        - name: SERVER_PORT
          value: "8080"
        - name: AUTH_MODE
          value: required
        {{- if $tokensSecret }}
        - name: AUTH_TOKENS_FILE
          value: /etc/oprc-pm/tokens/{{ .Values.authentication.tokensSecret.key }}
        {{- end }}
        - name: STORAGE_TYPE
          value: {{ .Values.storage.type }}
        {{- if eq .Values.storage.type "sqlite" }}
        - name: STORAGE_FILE
          value: /var/lib/oprc-pm/oaas-pm.db
        {{- else }}
        - name: ETCD_ENDPOINTS
          value: {{ join "," $etcd.endpoints | quote }}
        - name: ETCD_KEY_PREFIX
          value: {{ $etcd.prefix | quote }}
        {{- if $etcd.tlsSecret }}
        - name: ETCD_TLS_ENABLED
          value: "true"
        - name: ETCD_CA_CERT_PATH
          value: /etc/oprc-pm/etcd/ca.crt
        {{- if $etcd.clientCertificate }}
        - name: ETCD_CLIENT_CERT_PATH
          value: /etc/oprc-pm/etcd/tls.crt
        - name: ETCD_CLIENT_KEY_PATH
          value: /etc/oprc-pm/etcd/tls.key
        {{- end }}
        {{- end }}
        {{- with $etcd.credentialsSecret }}
        - name: ETCD_USERNAME
          valueFrom:
            secretKeyRef:
              name: {{ . }}
              key: username
        - name: ETCD_PASSWORD_FILE
          value: /etc/oprc-pm/etcd-credentials/password
        {{- end }}
        {{- end }}
        {{- if .Values.encryptionKeySecret.name }}
        - name: STORAGE_ENCRYPTION_KEY_FILE
          value: /etc/oprc-pm/encryption/{{ .Values.encryptionKeySecret.key }}
        {{- end }}
        - name: CRM_CLUSTERS_JSON
          value: {{ include "oprc-pm.clusters" . | quote }}
        {{- if .Values.tls.secretName }}
        - name: OPRC_PM_SECURITY_TLS_CERT_FILE
          value: /etc/oprc-pm/tls/tls.crt
        - name: OPRC_PM_SECURITY_TLS_KEY_FILE
          value: /etc/oprc-pm/tls/tls.key
        {{- if .Values.tls.clientCa }}
        - name: OPRC_PM_SECURITY_TLS_CLIENT_CA_FILE
          value: /etc/oprc-pm/tls/ca.crt
        {{- end }}
        {{- end }}
        {{- with .Values.reports }}
        {{- if .enabled }}
        - name: GRPC_PORT
          value: "8081"
        {{- if .tlsSecret }}
        - name: OPRC_PM_SECURITY_GRPC_TLS_CERT_FILE
          value: /etc/oprc-pm/reports/tls.crt
        - name: OPRC_PM_SECURITY_GRPC_TLS_KEY_FILE
          value: /etc/oprc-pm/reports/tls.key
        - name: OPRC_PM_SECURITY_GRPC_TLS_CLIENT_CA_FILE
          value: /etc/oprc-pm/reports/ca.crt
        {{- with .reporters }}
        - name: OPRC_PM_SECURITY_GRPC_TLS_REPORTERS
          value: {{ . | quote }}
        {{- end }}
        {{- end }}
        {{- end }}
        {{- end }}
        {{- if .Values.metrics.enabled }}
        - name: METRICS_PORT
          value: "9088"
        - name: METRICS_HOST
          value: 0.0.0.0
        {{- end }}
        {{- if not (hasKey .Values.settings "LOG_FORMAT") }}
        - name: LOG_FORMAT
          value: json
        {{- end }}
        {{- if and (eq .Values.storage.type "etcd") (not (hasKey .Values.settings "SERVER_SHUTDOWN_DELAY")) }}
        - name: SERVER_SHUTDOWN_DELAY
          value: 5s
        {{- end }}
        {{- range $name, $value := .Values.settings }}
        - name: {{ $name }}
          value: {{ include "oprc-pm.settingText" $value | quote }}
        {{- end }}
        {{- range $name, $secret := .Values.secretSettings }}
        - name: {{ $name }}_FILE
          value: /etc/oprc-pm/secrets/{{ $name }}/{{ $secret.key }}
        {{- end }}
        {{- with include "oprc-pm.extraEnv" .Values }}
        {{- . | nindent 8 }}
        {{- end }}
      startupProbe:
        tcpSocket:
          port: http
        periodSeconds: 2
        failureThreshold: 60
      readinessProbe:
        {{- if .Values.tls.clientCa }}
        tcpSocket:
          port: http
        {{- else }}
        httpGet:
          path: /readyz
          port: http
          {{- if .Values.tls.secretName }}
          scheme: HTTPS
          {{- end }}
        {{- end }}
        periodSeconds: 5
        timeoutSeconds: 5
      # A restart does not fix the store, so that liveness does not depend on it.
      livenessProbe:
        tcpSocket:
          port: http
        periodSeconds: 10
        failureThreshold: 3
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      volumeMounts:
        - name: tmp
          mountPath: /tmp
        {{- if eq .Values.storage.type "sqlite" }}
        - name: data
          mountPath: /var/lib/oprc-pm
        {{- else }}
        {{- if $etcd.tlsSecret }}
        - name: etcd
          mountPath: /etc/oprc-pm/etcd
          readOnly: true
        {{- end }}
        {{- if $etcd.credentialsSecret }}
        - name: etcd-credentials
          mountPath: /etc/oprc-pm/etcd-credentials
          readOnly: true
        {{- end }}
        {{- end }}
        {{- if $tokensSecret }}
        - name: tokens
          mountPath: /etc/oprc-pm/tokens
          readOnly: true
        {{- end }}
        {{- if .Values.encryptionKeySecret.name }}
        - name: encryption
          mountPath: /etc/oprc-pm/encryption
          readOnly: true
        {{- end }}
        {{- if .Values.tls.secretName }}
        - name: tls
          mountPath: /etc/oprc-pm/tls
          readOnly: true
        {{- end }}
        {{- if and .Values.reports.enabled .Values.reports.tlsSecret }}
        - name: reports
          mountPath: /etc/oprc-pm/reports
          readOnly: true
        {{- end }}
        {{- range $name, $cluster := .Values.clusters }}
        {{- if $cluster.tlsSecret }}
        - name: cluster-{{ $name }}-tls
          mountPath: /etc/oprc-pm/clusters/{{ $name }}/tls
          readOnly: true
        {{- end }}
        {{- if $cluster.tokenSecret }}
        - name: cluster-{{ $name }}-token
          mountPath: /etc/oprc-pm/clusters/{{ $name }}/token
          readOnly: true
        {{- end }}
        {{- end }}
        {{- range $name, $secret := .Values.secretSettings }}
        - name: {{ $name | lower | replace "_" "-" }}
          mountPath: /etc/oprc-pm/secrets/{{ $name }}
          readOnly: true
        {{- end }}
        {{- with .Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: tmp
      emptyDir:
        sizeLimit: 64Mi
    {{- if and (eq .Values.storage.type "sqlite") .Values.storage.existingClaim }}
    - name: data
      persistentVolumeClaim:
        claimName: {{ .Values.storage.existingClaim }}
    {{- end }}
    {{- if eq .Values.storage.type "etcd" }}
    {{- with $etcd.tlsSecret }}
    - name: etcd
      secret:
        secretName: {{ . }}
        defaultMode: 0440
    {{- end }}
    {{- with $etcd.credentialsSecret }}
    - name: etcd-credentials
      secret:
        secretName: {{ . }}
        defaultMode: 0440
    {{- end }}
    {{- end }}
    {{- with $tokensSecret }}
    - name: tokens
      secret:
        secretName: {{ . }}
        defaultMode: 0440
        items:
          - key: {{ $.Values.authentication.tokensSecret.key }}
            path: {{ $.Values.authentication.tokensSecret.key }}
    {{- end }}
    {{- with .Values.encryptionKeySecret.name }}
    - name: encryption
      secret:
        secretName: {{ . }}
        defaultMode: 0440
    {{- end }}
    {{- with .Values.tls.secretName }}
    - name: tls
      secret:
        secretName: {{ . }}
        defaultMode: 0440
    {{- end }}
    {{- if and .Values.reports.enabled .Values.reports.tlsSecret }}
    - name: reports
      secret:
        secretName: {{ .Values.reports.tlsSecret }}
        defaultMode: 0440
    {{- end }}
    {{- range $name, $cluster := .Values.clusters }}
    {{- with $cluster.tlsSecret }}
    - name: cluster-{{ $name }}-tls
      secret:
        secretName: {{ . }}
        defaultMode: 0440
    {{- end }}
    {{- with $cluster.tokenSecret }}
    - name: cluster-{{ $name }}-token
      secret:
        secretName: {{ .name }}
        defaultMode: 0440
    {{- end }}
    {{- end }}
    {{- range $name, $secret := .Values.secretSettings }}
    - name: {{ $name | lower | replace "_" "-" }}
      secret:
        secretName: {{ $secret.name }}
        defaultMode: 0440
    {{- end }}
    {{- with .Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
