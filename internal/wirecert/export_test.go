package wirecert

import "context"

// ObserveBetween is Observe with a call between every two reads.
func ObserveBetween(
	ctx context.Context, stateDir, deployment string, between func(),
) (State, error) {
	return observer{stateDir: stateDir, deployment: deployment, between: between}.observe(ctx)
}
