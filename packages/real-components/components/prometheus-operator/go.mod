module oaas.test/components/prometheus-operator

go 1.26.0

require (
	github.com/prometheus-operator/prometheus-operator v0.94.1
)
