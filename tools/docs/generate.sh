#!/usr/bin/env bash
# Generates docs/ from the provider's schemas, templates/ and examples/, or says with --check
# whether docs/ is what would be generated and each example is a valid configuration. Those that use
# another provider, too, are left to the tests, which apply them.
#
#   generate.sh [--check] PROVIDER
#
# All is done in a scratch copy; only docs/ is written, and with --check nothing.
set -euo pipefail
check=
if [ "${1:-}" = --check ]; then check=1; shift; fi
provider=$(cd "$(dirname "$1")" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The user's own Terraform configuration and credentials stay out.
export TF_CLI_CONFIG_FILE="$scratch/terraformrc" TF_DATA_DIR="$scratch/data" CHECKPOINT_DISABLE=1
unset TF_LOG TF_CLI_ARGS TF_WORKSPACE
cat >"$TF_CLI_CONFIG_FILE" <<EOF
provider_installation {
  dev_overrides { "registry.terraform.io/billetdev/billet" = "$provider" }
}
EOF

copy="$scratch/copy"
mkdir -p "$copy/schema"
cp -R "$root/templates" "$root/examples" "$copy/"
cat >"$copy/schema/main.tf" <<'EOF'
terraform {
  required_providers {
    billet = { source = "billetdev/billet" }
  }
}
EOF
# The generator looks a schema up under the namespace "hashicorp" or the bare name alone.
terraform -chdir="$copy/schema" providers schema -json |
    sed 's|"registry.terraform.io/billetdev/billet":|"billet":|' >"$copy/schema.json"

(cd "$root/tools/docs" && go build -o "$scratch/tfplugindocs" \
    github.com/hashicorp/terraform-plugin-docs/cmd/tfplugindocs)
"$scratch/tfplugindocs" generate --provider-dir "$copy" --provider-name billet \
    --rendered-provider-name billet --providers-schema "$copy/schema.json" >"$scratch/log" 2>&1 ||
    { cat "$scratch/log" >&2; exit 1; }

if [ -z "$check" ]; then
    rm -rf "$root/docs"
    cp -R "$copy/docs" "$root/docs"
    exit 0
fi
diff -ru "$root/docs" "$copy/docs" >&2 || {
    echo "docs/ is not what the schemas, templates and examples give. Run 'make docs'." >&2
    exit 1
}
terraform fmt -check -diff -recursive "$copy/examples" >&2 ||
    { echo "examples/ is not formatted. Run 'make fmt'." >&2; exit 1; }
find "$copy/examples" -name '*.tf' -exec dirname {} \; | sort -u | while read -r example; do
    ! grep -q '"hashicorp/' "$example"/*.tf || continue
    # Resource examples leave the provider's source to examples/provider.
    grep -q required_providers "$example"/*.tf || cp "$copy/schema/main.tf" "$example/source.tf"
    terraform -chdir="$example" validate -no-color >"$scratch/log" 2>&1 || {
        echo "${example#"$copy/"} is not a valid configuration:" >&2
        cat "$scratch/log" >&2
        exit 1
    }
done
echo "docs: docs/ and examples/ are as they should be"
