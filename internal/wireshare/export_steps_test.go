package wireshare

import "github.com/billetdev/terraform-provider-billet/internal/wirecert/safefile"

// WithSteps has step called before every change the engine makes.
func WithSteps(step safefile.Step) EngineOption { return func(e *Engine) { e.step = step } }
