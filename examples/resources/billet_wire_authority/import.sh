# From a file.
terraform import billet_wire_authority.this deployment=0123456789abcdef0123456789abcdef,state_dir=/var/lib/billet,file=/mnt/shared/billet/node-wire-authority.json

# From a secret, by its name or its full ARN.
terraform import billet_wire_authority.this deployment=0123456789abcdef0123456789abcdef,state_dir=/var/lib/billet,secrets_manager=billet/node-wire-authority
terraform import billet_wire_authority.this deployment=0123456789abcdef0123456789abcdef,state_dir=/var/lib/billet,secrets_manager=arn:aws:secretsmanager:eu-west-1:123456789012:secret:billet/node-wire-authority-Ab12Cd

# From a parameter, by its prefix.
terraform import billet_wire_authority.this deployment=0123456789abcdef0123456789abcdef,state_dir=/var/lib/billet,ssm_parameter=/billet/prod
