"""The routes that take an admin, and those that take an owner."""

# What takes an admin or an owner: a member gets what a viewer gets.
ADMIN_ONLY = {
    "settings",
    "raw-output",
    "workspace-settings-api",
    "exports-page",
    "export-file",
    "delete-export",
    "export-list",
    "export",
    "export-file-api",
    "audit",
    "channel-page",
    "test-channel",
    "renew-channel-secret",
    "delete-channel",
    "channel",
    "channel-test",
    "delivery-list",
    "audit-list",
    "member",
    "invitation-list",
    "invitation-api",
    "channel-secret",
    "token",
    "rename-workspace",
    "change-role",
    "revoke-invitation",
    "revoke-token",
}
OWNER_ONLY = {
    "delete-workspace",
    "workspace-readers",
    "make-workspace-link",
    "revoke-workspace-link",
    "workspace-link",
    # Each member revokes their own; that of the row is the owner's.
    "revoke-feed-token",
    "feed-token",
}
