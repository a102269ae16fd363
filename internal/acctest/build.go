package acctest

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"time"
)

// BuildControlPlane builds what StartCluster needs, in about 8 minutes on two cores where it was
// never built, and says so on progress. The end of ctx ends the build with all its compilers.
func BuildControlPlane(ctx context.Context, progress io.Writer) error {
	script := filepath.Join(Root(), "tools", "controlplane", "build.sh")
	build := exec.CommandContext(ctx, script)
	build.Stderr = progress
	ownGroup(build)
	build.Cancel = func() error { return endGroup(build) }
	build.WaitDelay = 10 * time.Second
	if err := build.Run(); err != nil {
		return fmt.Errorf("building the control plane: %w", err)
	}
	return nil
}
