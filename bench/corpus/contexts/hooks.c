/* What `-finstrument-functions` calls where a function is entered and left. */
void __cyg_profile_func_enter(void *function, void *site) {
    (void)function;
    (void)site;
}

void __cyg_profile_func_exit(void *function, void *site) {
    (void)function;
    (void)site;
}
